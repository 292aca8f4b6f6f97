/** Files whose texts do not follow the rules yet. Remove a line when you rewrite its file. */
export const exceptions: readonly string[] = [];
