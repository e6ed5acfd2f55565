/* Stands in for programs that a test cannot start under Wine. The name under which it is started says which one it is:
 *
 *   cargo, rustc   prints the recorded answer to the question, which is a file in the directory PERFCHECK_TEST_ANSWERS. For a build, it
 *                  also puts the executables that the file `executables` names into the target directory, in place of which the recorded
 *                  messages have @TARGET@. With PERFCHECK_TEST_HANGS, the answer to a build takes a quarter of an hour.
 *   sleep          sleeps as many seconds as its argument says
 *
 * Every call of cargo and rustc is noted in the file `calls` of that directory. */
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <windows.h>

enum { LONGEST = 4096 };

static const wchar_t *answers;

/* Returns an open file of the directory of answers; NULL if there is none. */
static FILE *open_answer(const wchar_t *name, const wchar_t *mode) {
    static wchar_t path[LONGEST];
    swprintf(path, LONGEST, L"%ls\\%ls", answers, name);
    return _wfopen(path, mode);
}

static const wchar_t *answer_to(int count, wchar_t **words) {
    for (int at = 1; at < count; at++) {
        if (!wcscmp(words[at], L"metadata")) return L"metadata";
        if (!wcscmp(words[at], L"--unit-graph")) return L"unit-graph";
        if (!wcsncmp(words[at], L"--message-format", 16)) return L"build";
        if (!wcscmp(words[at], L"-vV")) return L"version";
        if (!wcscmp(words[at], L"target-libdir")) return L"target-libdir";
    }
    return L"none";
}

static void to_utf_8(const wchar_t *text, char *bytes) {
    WideCharToMultiByte(CP_UTF8, 0, text, -1, bytes, 3 * LONGEST, NULL, NULL);
}

/* Copies the executables into the target directory. Each line has a path, a tab, and the path in the target directory. */
static void copy_executables(const wchar_t *target) {
    static char line[3 * LONGEST];
    static wchar_t wide[LONGEST], copy[LONGEST];
    FILE *listed = open_answer(L"executables", L"rb");
    while (listed && fgets(line, sizeof line, listed)) {
        line[strcspn(line, "\n")] = 0;
        MultiByteToWideChar(CP_UTF8, 0, line, -1, wide, LONGEST);
        wchar_t *tab = wcschr(wide, L'\t');
        if (!tab) continue;
        *tab = 0;
        swprintf(copy, LONGEST, L"%ls\\%ls", target, tab + 1);
        for (wchar_t *at = copy + 3; (at = wcschr(at, L'\\')); at++) {
            *at = 0;
            CreateDirectoryW(copy, NULL);
            *at = L'\\';
        }
        CopyFileW(wide, copy, FALSE);
    }
    if (listed) fclose(listed);
}

/* Prints an answer with the target directory in place of @TARGET@. Backslashes are doubled, because the answer is JSON. */
static void print_answer(FILE *answer, const wchar_t *target) {
    static char directory[3 * LONGEST], line[1 << 16];
    const char *mark = "@TARGET@";
    to_utf_8(target, directory);
    while (fgets(line, sizeof line, answer)) {
        char *rest = line;
        for (char *at; (at = strstr(rest, mark)); rest = at + strlen(mark)) {
            fwrite(rest, 1, at - rest, stdout);
            for (char *byte = directory; *byte; byte++) {
                if (*byte == '\\') putchar('\\');
                putchar(*byte);
            }
        }
        fputs(rest, stdout);
    }
}

int wmain(int count, wchar_t **words) {
    static wchar_t program[LONGEST];
    static char note[3 * LONGEST];
    GetModuleFileNameW(NULL, program, LONGEST);
    wchar_t *name = wcsrchr(program, L'\\');
    name = name ? name + 1 : program;
    if (!_wcsnicmp(name, L"sleep", 5)) {
        Sleep(count > 1 ? 1000 * (DWORD)_wtoi(words[1]) : 0);
        return 0;
    }
    answers = _wgetenv(L"PERFCHECK_TEST_ANSWERS");
    if (!answers) {
        fprintf(stderr, "error: PERFCHECK_TEST_ANSWERS is not set\n");
        return 101;
    }
    const wchar_t *answer = answer_to(count, words), *target = NULL;
    FILE *calls = open_answer(L"calls", L"ab");
    if (calls) {
        to_utf_8(name, note);
        fputs(note, calls);
        for (int at = 1; at < count; at++) {
            to_utf_8(words[at], note);
            fprintf(calls, " %s", note);
            if (at > 1 && !wcscmp(words[at - 1], L"--target-dir")) target = words[at];
        }
        fputs("\n", calls);
        fclose(calls);
    }
    if (!wcscmp(answer, L"build")) {
        if (_wgetenv(L"PERFCHECK_TEST_HANGS")) Sleep(15 * 60 * 1000);
        if (!target) target = _wgetenv(L"PERFCHECK_TEST_TARGET");
        if (target) copy_executables(target);
    }
    FILE *recorded = open_answer(answer, L"rb");
    if (!recorded) {
        fprintf(stderr, "error: there is no recorded answer to this question\n");
        return 101;
    }
    _setmode(_fileno(stdout), _O_BINARY);
    print_answer(recorded, target ? target : L"");
    fclose(recorded);
    return 0;
}
