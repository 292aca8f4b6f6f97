/** Calls the services at the URLs that other services and browsers use. */
import { addressesOf, browserUrlsOf, type Config } from '#app/config.ts';
import { settingGroups } from '#app/settings.ts';
import { outgoingFetch } from '#platform/version.ts';
import { placeOf, reasonOf, Warning } from './probing.ts';

const services = ['media', 'image', 'auth', 'agent', 'memory', 'content', 'notify', 'edge', 'console'] as const;
type Service = (typeof services)[number];

interface Target {
  readonly service: Service;
  readonly url: string;
  /** The setting that names the URL. `undefined`: it follows from ATELIER_PORT_BASE. */
  readonly setting: string | undefined;
}

/** As on the Overview of the console. */
const counted = `${services.length - 1} services and the console`;

type State = 'up' | 'down' | { readonly fault: string };

const timeoutMs = 3000;

export async function checkServices(config: Config): Promise<string> {
  const found = await Promise.all(
    targetsOf(config).map(async (target) => ({ ...target, state: await readState(target) })),
  );
  const faults = found.flatMap(({ state }) => (typeof state === 'object' ? [state.fault] : []));
  if (faults.length > 0) throw new Error(faults.join('; '));
  const isRunning = found.some(({ state }) => state === 'up');
  const down = found.filter(({ state }) => state === 'down');
  const configured = down.filter(({ setting }) => setting !== undefined);
  const silent = configured.map(({ service, url, setting }) => `${service} at ${placeOf(url)} (${setting})`);
  if (!isRunning && silent.length > 0)
    throw new Warning(`no service responds, as before the first start: ${silent.join(', ')}`);
  if (!isRunning) return 'no service is running';
  if (silent.length > 0) throw new Error(`not responding: ${silent.join(', ')}`);
  if (down.length > 0) {
    const elsewhere = down.map(({ service, url }) => `${service} at ${placeOf(url)} (${variableOf(service)})`);
    throw new Warning(`not responding: ${elsewhere.join(', ')}; set these URLs if the services run elsewhere`);
  }
  const turns = await countTurnsWithoutMemory(addressesOf(config).agent);
  if (turns > 0)
    throw new Warning(
      `${counted} respond; since the start of the agent, ${turns} turns continued without memory: check MEMORY_URL and the log`,
    );
  return `${counted} respond`;
}

/** Runs answer without memories while the memory service is down. Users see no error. */
async function countTurnsWithoutMemory(agentUrl: string): Promise<number> {
  const signal = AbortSignal.timeout(timeoutMs);
  const metrics = await outgoingFetch(`${agentUrl}/metrics`, { redirect: 'manual', signal })
    .then((response) => response.text())
    .catch(() => '');
  return Number(/^agent_turns_without_memory_total (\d+)$/m.exec(metrics)?.[1] ?? 0);
}

const variableOf = (service: Service) =>
  service === 'console' ? settingGroups.console.url.variable : settingGroups.addresses[service].variable;

function targetsOf(config: Config): readonly Target[] {
  const inside = addressesOf(config);
  const outside = browserUrlsOf(config);
  const isSet = (service: Service) =>
    (service === 'console' ? config.console.url : config.addresses[service]) !== undefined;
  const publicSettings = {
    auth: settingGroups.auth.publicUrl.variable,
    media: settingGroups.console.mediaUrl.variable,
    agent: settingGroups.console.agentUrl.variable,
    memory: settingGroups.console.memoryUrl.variable,
    content: settingGroups.content.publicUrl.variable,
  } as const;
  return [
    ...services.map((service) => ({
      service,
      url: inside[service],
      setting: isSet(service) ? variableOf(service) : undefined,
    })),
    ...(Object.keys(publicSettings) as (keyof typeof publicSettings)[])
      .filter((service) => outside[service] !== inside[service])
      .map((service) => ({ service, url: outside[service], setting: publicSettings[service] })),
  ];
}

async function readState({ service, url, setting = variableOf(service) }: Target): Promise<State> {
  const place = placeOf(url);
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await outgoingFetch(`${url}/health`, { redirect: 'manual', signal });
    const text = (await response.text()).slice(0, 1000);
    // A proxy responds in place of a process that is not running.
    if ([502, 503, 504].includes(response.status)) return /"(starting|draining)"/.test(text) ? 'up' : 'down';
    const isService = service === 'image' ? text === 'ok' : text.includes(`"service":"${service}"`);
    if (response.status === 200 && isService) return 'up';
    return { fault: `${place} is not the ${service} service (/health returns ${response.status}); check ${setting}` };
  } catch (error) {
    const reason = reasonOf(error as Error);
    if (/certificate|SSL|TLS/i.test(reason)) return { fault: `${place} is not trusted (${reason}); check ${setting}` };
    return 'down';
  }
}
