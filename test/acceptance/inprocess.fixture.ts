/** Runs commands in the process of the test. A program start costs a second or more of processor time. */
import { StartFault } from '#platform/lifecycle.ts';

type Command = (args: readonly string[]) => Promise<number>;

/** Returns the exit code. Errors are rethrown. */
export async function inProcess(
  command: Command,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const names = ['ATELIER_DATA_DIR', 'DATABASE_URL', ...Object.keys(env)];
  const before = names.map((name) => [name, process.env[name]] as const);
  for (const name of names) {
    if (env[name] === undefined) delete process.env[name];
    else process.env[name] = env[name];
  }
  try {
    return await command(args);
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

/** Returns what the command prints, and its exit code. An expected fault is one line, as on the command line. */
export async function runInProcess(
  command: Command,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly output: string }> {
  const lines: string[] = [];
  const { log, error } = console;
  const print = (line: unknown) => void lines.push(String(line));
  Object.assign(console, { log: print, error: print });
  try {
    const code = await inProcess(command, args, env);
    return { code, output: lines.join('\n') };
  } catch (fault) {
    if (!(fault instanceof StartFault)) throw fault;
    return { code: 1, output: [...lines, fault.message].join('\n') };
  } finally {
    Object.assign(console, { log, error });
  }
}

/** Returns the message of the command's fault. */
export async function faultOf(...[command, args, env]: Parameters<typeof inProcess>): Promise<string> {
  return inProcess(command, args, env).then(
    () => 'no fault',
    (error: Error) => `${error.name}: ${error.message}`,
  );
}
