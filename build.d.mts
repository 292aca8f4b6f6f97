/** Returns the folder of the build that is made from these sources and packages. It may be missing. */
export function buildFolder(root?: string): string;

/** Returns the folder of the build, which is created first if it is missing. Throws an Error with the reason if it cannot be. */
export function findBuild(root?: string): string;

/** Returns the file of the build that a module of the sources became, or `undefined` for any other file. */
export function builtFile(build: string, path: string, root?: string): string | undefined;
