/** The usage lines of the commands, which the launcher prints for `--help`, and their arguments. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { StartFault } from '#platform/lifecycle.ts';
import usages from './usages.json' with { type: 'json' };

type Name = keyof typeof usages;

/** Returns, for example, `Usage: npm run sweep [-- --apply]`. */
export const usageOf = (command: Name): string => `Usage: ${usages[command].usage}`;

/**
 * Reads the words and options of a command. An option's value follows it after `=` or as the next argument. After `--`, every argument
 * is a word. Throws StartFault if an option is unknown or has no value, or if the number of words is not between `least` and `most`.
 */
export function readArguments<const Options extends ParseArgsOptionsConfig>(
  command: Name,
  args: readonly string[],
  expected: { readonly least?: number; readonly most: number; readonly options?: Options },
) {
  const { least = 0, most, options = {} as Options } = expected;
  const { positionals, values } = parse(command, args, options);
  if (positionals.length < least || positionals.length > most) throw new StartFault(`${usageOf(command)}.`);
  return { words: positionals, values };
}

function parse<const Options extends ParseArgsOptionsConfig>(command: Name, args: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // The first sentence names the option.
    const [fault] = (error as Error).message.split(/\. |\n/);
    throw new StartFault(`${fault}. ${usageOf(command)}.`, { cause: error });
  }
}
