/** `npm start [-- service …]`: starts the services, tells where they are, and drains them when asked to end. */

import { StartFault, stopRequested } from '#platform/lifecycle.ts';
import { createLog } from '#platform/log.ts';
import { isServiceName, readConfig, type ServiceName, secretsOf, serviceNames, servicesByDefault } from '../config.ts';
import { startSuite } from '../suite.ts';

/** Longer than any documented drain; then the process ends without waiting any more. */
const drainLimitMs = 60_000;

export async function start(args: readonly string[]): Promise<number> {
  const stopping = stopRequested();
  const services = chooseServices(args);
  const config = readConfig(process.env, services);
  const log = createLog({ level: config.process.logLevel, secrets: secretsOf(config) });
  const suite = await startSuite(config, services, log);
  for (const [service, address] of Object.entries(suite.addresses)) console.log(`${service.padEnd(8)} ${address}`);
  console.log(`Atelier is ready in ${(performance.now() / 1000).toFixed(1)} s.`);
  log.info({ reason: await stopping }, 'stopping');
  const giveUp = setTimeout(() => process.exit(1), drainLimitMs);
  await suite.close();
  clearTimeout(giveUp);
  return 0;
}

function chooseServices(named: readonly string[]): readonly ServiceName[] {
  const unknown = named.filter((name) => !isServiceName(name));
  if (unknown.length > 0)
    throw new StartFault(`There is no service ${unknown.join(', ')}; there are ${serviceNames.join(', ')}.`);
  return named.length === 0 ? servicesByDefault(process.env) : named.filter(isServiceName);
}
