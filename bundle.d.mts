/** Returns the path of the bundled program, which is created if necessary, or of the sources if it cannot be created. */
export function findProgram(root?: string): Promise<string>;

/** Returns the folder of V8's compiled code. That of a bundle is removed with it. */
export function compileCacheOf(program: string): string;

/** Removes the files that the program never reads from a folder `node_modules` without the development packages. */
export function removeUnused(packages: string): void;
