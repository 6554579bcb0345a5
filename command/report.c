/* report.c: `gbm report` is a program in Python, as the libraries that draw
 * pictures are; all numbers are gbm's own. */
#include "command.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = PATH_MAX + 64 };

/* Where the script is, as this program was built or installed. */
static bool find_script(const char *self, char path[ROOM])
{
    static const char *const places[] = {
        "../share/gbm/report", "../command/report", "../../command/report"};
    char copy[PATH_MAX];

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(copy, sizeof copy, "%s", self);
        snprintf(path, ROOM, "%s/%s/report.py", dirname(copy), places[i]);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

int make_report(const struct command *command, int argc, char **argv)
{
    char self[PATH_MAX], script[ROOM];
    const char *python = getenv("GBM_PYTHON");
    char *words[argc + 5];
    int n = 0;

    if (argc < 2)
        return complain("%s: which draws? gbm %s %s", command->name,
                        command->name, command->usage);
    if (!find_self(self) || !find_script(self, script)) {
        complain("report.py is not there, beside gbm's other files");
        return 2;
    }
    python = python && python[0] ? python : "python3";
    words[n++] = (char *)(uintptr_t)python; /* execv's old prototype */
    words[n++] = (char *)(uintptr_t) "-B";  /* leaves no files behind */
    words[n++] = script;
    words[n++] = self;
    for (int i = 1; i < argc; i++)
        words[n++] = argv[i];
    words[n] = NULL;
    fflush(NULL);
    execvp(python, words);
    complain("report needs Python: cannot run %s: %s", python, strerror(errno));
    return 1;
}
