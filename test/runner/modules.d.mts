/** The folders to search: the program, and a build of each module for imports within a test's process. */
export function testedFolders(): string;

/** Returns the file that a module of the sources became, or `undefined` for any other file. */
export function builtFile(folders: string, path: string): string | undefined;
