/** Returns the path of the bundled program, which is created if necessary, or of the sources if it cannot be created. */
export function findProgram(root?: string): Promise<string>;

/** Returns the folder of V8's compiled code. That of a bundle is removed with it. */
export function compileCacheOf(program: string): string;
