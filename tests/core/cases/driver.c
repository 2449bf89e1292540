/* Calls kernels with what stands in a file, for the test that runs them on another architecture.
 *
 * The input is a list of calls: the number of the function, of the symbols, and of the buffers; the values of the
 * symbols; the bytes of each buffer and of the arena; what is in the buffers. All numbers have 64 bits. The output
 * is what is in the buffers after each call. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct host;
typedef void (*entry)(uint8_t *const *args, const int64_t *dims, uint8_t *arena, const struct host *host);

/* From the last task to the first: no order is promised. */
static void parallel_for(const struct host *host, int64_t count, uint8_t *context,
                         void (*task)(uint8_t *context, int64_t index)) {
    (void)host;
    for (int64_t index = count; index-- > 0;) task(context, index);
}

struct host {
    void (*parallel_for)(const struct host *, int64_t, uint8_t *, void (*)(uint8_t *, int64_t));
};

#include "kernels.h"

static void take(void *to, size_t bytes) {
    if (fread(to, 1, bytes, stdin) != bytes) {
        fputs("the input ends early\n", stderr);
        exit(1);
    }
}

static void *memory(uint64_t bytes) {
    void *start = aligned_alloc(64, (bytes + 64) / 64 * 64);
    if (!start) exit(2);
    return memset(start, 0xA5, (bytes + 64) / 64 * 64);
}

int main(void) {
    const struct host host = {parallel_for};
    uint64_t head[3];
    while (fread(head, sizeof head, 1, stdin) == 1) {
        uint64_t function = head[0], symbols = head[1], buffers = head[2];
        int64_t *dims = memory(symbols * 8);
        uint64_t *bytes = memory((buffers + 1) * 8);
        uint8_t **args = memory(buffers * 8);
        take(dims, symbols * 8);
        take(bytes, (buffers + 1) * 8);
        for (uint64_t i = 0; i < buffers; i++) {
            args[i] = memory(bytes[i]);
            take(args[i], bytes[i]);
        }
        uint8_t *arena = memory(bytes[buffers]);
        ENTRIES[function](args, dims, arena, &host);
        for (uint64_t i = 0; i < buffers; i++) {
            fwrite(args[i], 1, bytes[i], stdout);
            free(args[i]);
        }
        free(arena);
        free(args);
        free(bytes);
        free(dims);
    }
    return 0;
}
