/**
 * `npm run doctor`: checks the configuration, every engine and every external service, one line each: ok, or what is wrong and
 * which setting to change. The exit code is 1 if anything is wrong. It can run beside a running instance.
 */
import { type Config, readConfig, servicesByDefault, warningsOf } from '#app/config.ts';
import { examine, type Finding } from '#app/doctor/examining.ts';
import { ConfigFault } from '#platform/config.ts';

export async function doctor(): Promise<number> {
  const services = servicesByDefault(process.env);
  const warnings = warningsOf(process.env, services);
  for (const warning of warnings) printLine('warn', 'settings', warning);
  let config: Config;
  try {
    config = readConfig(process.env, services, { keepSecrets: false });
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error;
    const faults = error.faults.filter((fault) => !warnings.includes(fault));
    for (const fault of faults) printLine('FAULT', 'configuration', `${fault}; docs/config.md lists all settings`);
    return 1;
  }
  printLine(
    'ok',
    'configuration',
    config.process.production ? 'production' : 'development: missing settings are embedded or generated',
  );
  const findings = await examine(config, ({ state, name, sentence }) => printLine(state, name, sentence));
  return findings.some(({ state }) => state === 'FAULT') ? 1 : 0;
}

function printLine(state: Finding['state'], what: string, sentence: string): void {
  console.log(`${state.padEnd(6)} ${what.padEnd(14)} ${sentence}`);
}
