/* symbolic_cell.c: where the cells of a factor are. */
#include "load/symbolic.h"

int rt_symbolic_cell_of(const struct rt_symbolic *s, int column, int i)
{
    return s->start.items[column] + i * s->step.items[column];
}

int rt_symbolic_cell(const struct rt_symbolic *s, int a, int b)
{
    int column = a < b ? a : b, row = a < b ? b : a;
    if (column >= s->sparse) {
        int n = s->d - s->sparse;
        return s->dense + (column - s->sparse) * n + row - s->sparse;
    }
    int low = 0, high = s->count.items[column] - 1;
    while (low <= high) {
        int middle = low + (high - low) / 2;
        int cell = rt_symbolic_cell_of(s, column, middle),
            r = s->row.items[cell];
        if (r == row)
            return cell;
        if (r < row)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}
