/** `npm start [-- service …]`: starts the services, tells where they are, and drains them when asked to end. */

import { resolve } from 'node:path';
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
import { createLog, type LogFormat, printLine } from '#platform/log.ts';
import { isKept } from '#platform/secrets.ts';

/** Beside the time that runs in flight are given; then the process ends without waiting any more. */
const closingLimitMs = 30_000;

export async function start(args: readonly string[]): Promise<number> {
  const stopping = stopRequested();
  const services = chooseServices(args);
  const isFirst = makesConsoleToken();
  const config = readConfig(process.env, services);
  const { logLevel, logFormat: format = process.stdout.isTTY ? 'pretty' : 'json' } = config.process;
  const log = createLog({ level: logLevel, format, secrets: secretsOf(config) });
  for (const warning of warningsOf(process.env, services)) log.warn(warning);
  const suite = await startSuite(config, services, log);
  const tell = teller(format);
  for (const [service, address] of Object.entries(suite.addresses))
    tell(`${service.padEnd(8)} ${address}`, { service, address });
  tell(`Atelier is ready in ${(performance.now() / 1000).toFixed(1)} s.`);
  const { console: consoleUrl } = suite.addresses;
  if (consoleUrl !== undefined) {
    // Behind the `#` the token is in no request, and so in no access log.
    if (isFirst)
      tell(`Open ${consoleUrl}/#token=${config.console.token} for the operator's pages; the link is shown this once.`);
    else tell(`Console: ${consoleUrl}`);
  }
  for (const { part, state, setting } of standInsOf(config, services))
    tell(`Stand-in: ${part} is ${state}; see ${setting}.`, { part, state, setting });
  log.info({ reason: await stopping }, 'stopping');
  const giveUp = setTimeout(() => process.exit(1), config.agent.drainS * 1000 + closingLimitMs);
  await suite.close();
  clearTimeout(giveUp);
  return 0;
}

/** These lines are the result of the command, so LOG_LEVEL does not hide them. */
function teller(format: LogFormat) {
  return (msg: string, facts: Readonly<Record<string, string>> = {}) =>
    printLine(
      format === 'pretty' ? msg : JSON.stringify({ level: 'info', time: new Date().toISOString(), ...facts, msg }),
    );
}

/** Nobody has set CONSOLE_TOKEN, and no earlier start has made one. */
function makesConsoleToken(): boolean {
  const { NODE_ENV, CONSOLE_TOKEN, ATELIER_DATA_DIR } = process.env;
  if (NODE_ENV === 'production' || CONSOLE_TOKEN !== undefined) return false;
  return !isKept(resolve(ATELIER_DATA_DIR || 'data'), 'CONSOLE_TOKEN');
}

function chooseServices(named: readonly string[]): readonly ServiceName[] {
  const unknown = named.filter((name) => !isServiceName(name));
  if (unknown.length > 0)
    throw new StartFault(`There is no service ${unknown.join(', ')}; there are ${serviceNames.join(', ')}.`);
  return named.length === 0 ? servicesByDefault(process.env) : named.filter(isServiceName);
}
