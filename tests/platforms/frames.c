/* The function of glibc by which libgcc finds the table of frames for an address, for musl. */
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>

/* The beginning of `struct dl_find_object`. The rest of it is reserved. */
struct found {
    unsigned long long flags;
    void *start, *end;
    struct link_map *map;
    void *frames;
};

/* libgcc refers to these only weakly, so without strong references they would be missing in the program. */
void *const threads[] = {pthread_getspecific, pthread_key_create, pthread_mutex_lock, pthread_mutex_unlock, pthread_once,
                         pthread_setspecific};

struct search {
    uintptr_t address;
    struct found *found;
};

static int look(struct dl_phdr_info *object, size_t size, void *data) {
    struct search *search = data;
    void *frames = 0;
    int is_here = 0;
    (void)size;
    for (int at = 0; at < object->dlpi_phnum; at++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[at];
        uintptr_t start = object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_GNU_EH_FRAME) frames = (void *)start;
        if (part->p_type == PT_LOAD && search->address - start < part->p_memsz) {
            is_here = 1;
            search->found->start = (void *)start;
            search->found->end = (void *)(start + part->p_memsz);
        }
    }
    search->found->frames = frames;
    return is_here && frames;
}

int _dl_find_object(void *address, struct found *found) {
    struct search search = {(uintptr_t)address, found};
    found->flags = 0;
    found->map = 0;
    return dl_iterate_phdr(look, &search) ? 0 : -1;
}
