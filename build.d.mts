/**
 * Returns the folder of the build that is made from these sources and packages. It is created first if it is missing. Throws an Error
 * with the reason if it cannot be. `kind` is `builds`, the program, or `modules`, which only tests and benchmarks import.
 */
export function findBuild(root?: string, onMissing?: () => void, kind?: 'builds' | 'modules'): string;
