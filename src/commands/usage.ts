/** The usage lines of the commands, which the launcher prints for `--help`. */
import usages from './usages.json' with { type: 'json' };

/** Returns, for example, `Usage: npm run sweep [-- --apply]`. */
export const usageOf = (command: keyof typeof usages): string => `Usage: ${usages[command].usage}`;
