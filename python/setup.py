"""What pyproject.toml cannot say: a wheel that carries the executables is for
one kind of machine, and for any Python. `carry` puts them into gbm/home."""
from pathlib import Path

from setuptools import Distribution, setup

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    from wheel.bdist_wheel import bdist_wheel

CARRIES = (Path(__file__).parent / "gbm" / "home" / "bin").exists()


class Carrying(Distribution):
    def has_ext_modules(self):
        return CARRIES


class Wheel(bdist_wheel):
    def get_tag(self):
        python, abi, platform = super().get_tag()
        return ("py3", "none", platform) if CARRIES else (python, abi, platform)


setup(distclass=Carrying, cmdclass={"bdist_wheel": Wheel})
