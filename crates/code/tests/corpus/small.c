/* What `small.elf` was made of, on x86-64 Linux:
   cc -Os -fpie -pie -nostdlib -fno-asynchronous-unwind-tables -Wl,-z,max-page-size=16,-z,noseparate-code,--build-id=none,-rpath,'$ORIGIN/lib' small.c -o small.elf -lc
   And `small_aarch64.elf`, with `aarch64-linux-gnu-gcc` of GCC 12 in place of `cc`.
   And `small.exe`, of Windows, which has no thread-local variable, because it would need a library:
     x86_64-w64-mingw32-gcc -Os -nostdlib -fno-asynchronous-unwind-tables -Wl,-e,_start,--dynamicbase,--file-alignment,16,--section-alignment,4096 small.c -o small.exe -lmsvcrt
   And, for macOS, `small.macho`, with lists of opcodes for the loader, and `small_aarch64.macho`, with chains of pointers, by clang of Zig 0.17 and LLD 22:
     zig cc -target x86_64-macos-none -Os -fno-asynchronous-unwind-tables -fno-stack-protector -c small.c
     ld64.lld -arch x86_64 -platform_version macos 11.0 11.0 -e __start -o small.macho small.o libSystem.tbd
   and the same with `aarch64`, `arm64` and 13.0. */
#ifdef _WIN32
#define __thread
#endif
#ifdef __aarch64__
#define PAUSE "yield"
#else
#define PAUSE "pause"
#endif
extern int puts(const char *);
static const char *const words[] = {"alpha", "beta", "gamma", "delta"};
static const int table[] = {3, 1, 4, 1, 5, 9, 2, 6};
__thread int level = 41;
int calls;
__attribute__((noinline)) static int first(int n) { return table[n & 7] + level; }
__attribute__((noinline)) static int second(int n) {
    switch (n) {
    case 0: return first(1);
    case 1: return first(2) * 3;
    case 2: return n ^ 0x55;
    case 3: return puts(words[n & 3]);
    case 4: return calls++;
    case 5: return first(n) / 7;
    default: return -1;
    }
}
static int (*const reached[])(int) = {first, second};
void _start(void) {
    for (int n = 0; n < 9; n++) calls += reached[n & 1](n);
    puts(words[calls & 3]);
    for (;;) __asm__ volatile(PAUSE);
}
