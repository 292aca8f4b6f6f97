/** `npm start [-- service …]`: starts the services, prints their URLs, and drains them on a signal. */

import { flushCompileCache } from 'node:module';
import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  isServiceName,
  readConfig,
  type ServiceName,
  secretsOf,
  serviceNames,
  servicesByDefault,
  standInsOf,
  warningsOf,
} from '#app/config.ts';
import { startSuite } from '#app/suite.ts';
import { StartFault, stopRequested } from '#platform/lifecycle.ts';
import { createLog, type Log, type LogFormat, printLine } from '#platform/log.ts';
import { isStored } from '#platform/secrets.ts';
import { withReadableErrors } from './readableerrors.ts';

/** Time for closing in addition to the time for runs in progress. After it the process ends without waiting. */
const closingLimitMs = 30_000;
/** The first requests, such as those of a page that opens, come first. */
const settledAfterMs = 2_000;

export async function start(args: readonly string[]): Promise<number> {
  const stopping = stopRequested();
  const services = chooseServices(args);
  const isFirst = generatesConsoleToken();
  const config = readConfig(process.env, services);
  const { logLevel, logFormat: format = process.stdout.isTTY ? 'pretty' : 'json' } = config.process;
  const log = createLog({ level: logLevel, format, secrets: secretsOf(config) });
  for (const warning of warningsOf(process.env, services)) log.warn(warning);
  const suite = await withReadableErrors(() => startSuite(config, services, log));
  const print = createPrinter(format);
  for (const [service, address] of Object.entries(suite.addresses))
    print(`${service.padEnd(8)} ${address}`, { service, address });
  print(`Atelier is ready in ${(performance.now() / 1000).toFixed(1)} s.`);
  const { console: consoleUrl } = suite.addresses;
  if (consoleUrl !== undefined) {
    // Browsers do not send the part after `#`, so the token appears in no request. Output that is not a terminal is a log.
    print(`Studio: ${consoleUrl}`);
    if (isFirst && process.stdout.isTTY)
      print(`Operators: ${consoleUrl}/#token=${config.console.token} (this link is shown only once)`);
    else print(`Operators: ${consoleUrl}/operator. Sign in with CONSOLE_TOKEN from secrets.json.`);
  }
  for (const { part, state, setting } of standInsOf(config, services))
    print(`Stand-in: ${part} is ${state}; see ${setting}.`, { part, state, setting });
  setTimeout(() => {
    // The files of the process may have been deleted, and an unhandled rejection would end it.
    if (services.includes('media'))
      warnWithoutFfmpeg(config.media.ffmpegPath, log).catch((error: Error) =>
        log.error({ err: error }, 'could not look for ffmpeg'),
      );
    // Otherwise a process that is killed later leaves no compiled code for the next start.
    flushCompileCache();
    collectAfterStart();
  }, settledAfterMs).unref();
  log.info({ reason: await stopping }, 'stopping');
  const giveUp = setTimeout(() => process.exit(1), config.agent.drainS * 1000 + closingLimitMs);
  await suite.close();
  clearTimeout(giveUp);
  return 0;
}

async function warnWithoutFfmpeg(path: string, log: Log): Promise<void> {
  const { createFfmpeg, withoutFfmpeg } = await import('#media/video/ffmpeg.ts');
  await createFfmpeg(path)
    .check()
    .catch(() => log.warn(withoutFfmpeg(path)));
}

/** These lines are the result of the command, so LOG_LEVEL does not hide them. */
function createPrinter(format: LogFormat) {
  return (msg: string, facts: Readonly<Record<string, string>> = {}) =>
    printLine(
      format === 'pretty' ? msg : JSON.stringify({ level: 'info', time: new Date().toISOString(), ...facts, msg }),
    );
}

/** CONSOLE_TOKEN is not set, and no earlier start has generated one. */
function generatesConsoleToken(): boolean {
  const { NODE_ENV, CONSOLE_TOKEN, ATELIER_DATA_DIR } = process.env;
  if (NODE_ENV === 'production' || CONSOLE_TOKEN !== undefined) return false;
  return !isStored(resolve(ATELIER_DATA_DIR || 'data'), 'CONSOLE_TOKEN');
}

function chooseServices(named: readonly string[]): readonly ServiceName[] {
  const unknown = named.filter((name) => !isServiceName(name));
  if (unknown.length > 0)
    throw new StartFault(`Unknown service ${unknown.join(', ')}. The services are ${serviceNames.join(', ')}.`);
  return named.length === 0 ? servicesByDefault(process.env) : named.filter(isServiceName);
}

// Garbage that V8 would collect late, because it sees no need for the space.

type Collect = (options: {
  readonly type: 'major';
  readonly execution: 'async';
  readonly flavor: 'last-resort';
}) => void;

/** Collects what a start leaves behind. An idle process then holds 190 MB instead of 235, until its next full collection. */
function collectAfterStart(): void {
  // The flag affects contexts that are created after it, so `gc` does not become a global of the program.
  setFlagsFromString('--expose-gc');
  const collect: Collect = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'async', flavor: 'last-resort' });
}
