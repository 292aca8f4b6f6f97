/** The command line (docs/specification/system.md#commands). Each command is loaded on demand. */
import { privateUmask } from '#platform/datafolder/permissions.ts';
import { StartFault } from '#platform/lifecycle.ts';

type Command = (args: readonly string[]) => Promise<number>;

const commands: Readonly<Record<string, () => Promise<Command>>> = {
  start: async () => (await import('#commands/start.ts')).start,
  doctor: async () => (await import('#commands/doctor.ts')).doctor,
  token: async () => (await import('#commands/token.ts')).token,
  credits: async () => (await import('#commands/credits.ts')).credits,
  seed: async () => (await import('#commands/seed.ts')).seed,
  'import-legacy': async () => (await import('#commands/importlegacy.ts')).importLegacy,
  audit: async () => (await import('#commands/audit.ts')).audit,
  rescreen: async () => (await import('#commands/rescreen.ts')).rescreen,
  embedder: async () => (await import('#commands/embedder.ts')).embedder,
  sweep: async () => (await import('#commands/sweep.ts')).sweep,
  'webhook-test': async () => (await import('#commands/webhooktest.ts')).webhookTest,
  backup: async () => (await import('#commands/backup.ts')).backup,
  restore: async () => (await import('#commands/restore.ts')).restore,
  move: async () => (await import('#commands/move.ts')).move,
  demo: async () => (await import('#commands/demo.ts')).demo,
};

const [name = 'start', ...args] = process.argv.slice(2);

try {
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load === undefined)
    throw new StartFault(`Unknown command \`${name}\`. The commands are ${Object.keys(commands).join(', ')}.`);
  // What a command writes is private data.
  process.umask(privateUmask);
  const command = await load();
  process.exitCode = await command(args);
} catch (error) {
  // Expected errors print one readable line. Unexpected ones include the stack.
  console.error(error instanceof StartFault ? error.message : error);
  process.exitCode = 1;
}
// An idle socket must not keep a finished command running.
process.exit();
