/** Compares deploy/kubernetes with Kubernetes' published schema, the settings of the product, the image and the compose file. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { isServiceName, readConfig, servicesByDefault, warningsOf } from '#app/config.ts';
import { allSettings } from '#app/settings.ts';
import { root } from '../acceptance/running.fixture.ts';
import { expectConsoleUrls, portOf, readSecrets } from './secrets.fixture.ts';

interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly startupProbe: Probe;
  readonly volumeMounts: readonly { readonly mountPath: string }[];
}
interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string };
  readonly exec?: { readonly command: readonly string[] };
  readonly periodSeconds: number;
  readonly failureThreshold?: number;
}
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly ports?: readonly { readonly name: string; readonly port: number; readonly targetPort?: string }[];
    readonly rules?: readonly Rule[];
    readonly template?: {
      readonly spec: { readonly terminationGracePeriodSeconds: number; readonly containers: readonly Container[] };
    };
    readonly tls?: readonly { readonly hosts: readonly string[] }[];
  };
}
interface Rule {
  readonly host: string;
  readonly http: {
    readonly paths: readonly {
      readonly path: string;
      readonly backend: { readonly service: { readonly name: string; readonly port: { readonly name: string } } };
    }[];
  };
}

const folder = join(root, 'deploy/kubernetes');
const readText = (name: string) => readFile(join(folder, name), 'utf8');
const { resources }: { readonly resources: readonly string[] } = parse(await readText('kustomization.yaml'));
const manifests: readonly Manifest[] = (await Promise.all(resources.map(readText))).flatMap((text) =>
  parseAllDocuments(text).map((document) => document.toJS()),
);
const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind);
const deployments = ofKind('Deployment').map(({ metadata, spec }) => {
  const [container] = spec?.template?.spec.containers ?? [];
  if (container === undefined) throw new Error(`${metadata.name} has no container`);
  return { name: metadata.name, graceS: spec?.template?.spec.terminationGracePeriodSeconds, container };
});

const settings = Object.assign({}, ...ofKind('ConfigMap').map(({ data }) => data));
const secrets = await readSecrets();

it('kustomization.yaml names every manifest', async () => {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml');
  expect([...resources].sort()).toEqual(files.sort());
});

it('matches the schema of Kubernetes, which lists each field', async () => {
  const project = await mkdtemp(join(tmpdir(), 'atelier-kubernetes-'));
  const group = (version: string) => version.replace(/^(apps|policy)\//, '$1/');
  // The compiler rejects unknown fields of object literals.
  const lines = manifests.map(
    (manifest, index) =>
      `export const m${index}: import('kubernetes-models/${group(manifest.apiVersion)}/${manifest.kind}').I${manifest.kind} = ${JSON.stringify(manifest)};`,
  );
  const check = async (text: string) => {
    await writeFile(join(project, 'manifests.ts'), text);
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const words = [compiler, '--noEmit', '--singleThreaded', '--pretty', 'false', '--project', project];
    const options = promisify(execFile)(process.execPath, words, { cwd: project });
    return (await options.catch((error: { readonly stdout: string }) => error)).stdout;
  };
  try {
    await symlink(join(root, 'node_modules'), join(project, 'node_modules'));
    const compilerOptions = { module: 'nodenext', target: 'es2023', strict: true, skipLibCheck: true, types: [] };
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['manifests.ts'] }));
    expect(await check(lines.join('\n'))).toBe('');
    const misspelled = lines.join('\n').replace('"periodSeconds"', '"periodSecond"');
    expect(await check(misspelled)).toContain('periodSecond');
  } finally {
    await rm(project, { recursive: true });
  }
}, 120_000);

describe.each(deployments)('the Deployment $name', ({ name, graceS, container }) => {
  const { args, env = [] } = container;
  const environment = { ...settings, ...secrets, ...Object.fromEntries(env.map((entry) => [entry.name, entry.value])) };

  it('has settings that exist and are complete for production', () => {
    const known: readonly string[] = [...allSettings.map(({ variable }) => variable), 'TMPDIR'];
    expect(Object.keys(environment).filter((variable) => !known.includes(variable))).toEqual([]);
    const started = args.filter(isServiceName);
    expect(started).toEqual(args);
    expect(readConfig(environment, started).process.production).toBe(true);
    expect(warningsOf(environment, started).filter((line) => !line.startsWith('EMBEDDING_BASE_URL'))).toEqual([]);
  });

  it('opens the ports of its services, and probes one of them and the health check of the image', async () => {
    expect(Object.fromEntries(container.ports.map((port) => [port.name, port.containerPort]))).toEqual(
      Object.fromEntries(args.filter(isServiceName).map((service) => [service, portOf(service)])),
    );
    const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe];
    for (const { httpGet, exec } of probes) {
      if (httpGet !== undefined) expect([httpGet.path, args.includes(httpGet.port)]).toEqual(['/health', true]);
      else {
        const dockerfile = await readFile(join(root, 'deploy/Dockerfile'), 'utf8');
        expect(dockerfile).toContain(`CMD ${JSON.stringify(exec?.command).replaceAll('","', '", "')}`);
      }
    }
  });

  it('is not restarted while it drains, and has time to drain', () => {
    const drain = Number(allSettings.find(({ variable }) => variable === 'AGENT_DRAIN_SECS')?.defaultText);
    const { periodSeconds, failureThreshold = 3 } = container.livenessProbe;
    expect(drain).toBeGreaterThan(0);
    expect(graceS).toBeGreaterThan(drain);
    expect(periodSeconds * failureThreshold).toBeGreaterThan(drain);
  });

  it('writes only to its volumes', () => {
    const mounted = container.volumeMounts.map(({ mountPath }) => mountPath);
    expect(mounted.sort()).toEqual(['/data', environment.TMPDIR].sort());
  });

  it('has a Service with its ports', () => {
    const service = ofKind('Service').find(({ metadata }) => metadata.name === name);
    const listed = service?.spec?.ports?.map((port) => [port.name, port.port, port.targetPort]);
    expect(listed).toEqual(container.ports.map((port) => [port.name, port.containerPort, port.name]));
  });
});

it('starts every service that production needs', () => {
  const started = deployments.flatMap(({ container }) => container.args);
  expect(started.sort()).toEqual([...servicesByDefault({ NODE_ENV: 'production' })].sort());
});

it('needs the same secrets as the compose file', async () => {
  const text = await readFile(join(root, 'deploy/env.example'), 'utf8');
  const random = [...text.matchAll(/^([A-Z][A-Z0-9_]+)=$/gm)].map(([, variable]) => variable);
  // The compose file starts these engines itself.
  const others = ['POSTGRES_PASSWORD', 'REDIS_PASSWORD'];
  expect(random.filter((variable) => !others.includes(String(variable)) && !(String(variable) in secrets))).toEqual([]);
});

describe('the Ingress', () => {
  const [ingress] = ofKind('Ingress');
  const rules = ingress?.spec?.rules ?? [];

  it('has a host for each service that browsers call, with the URL of the settings', () => {
    const services = rules.map(({ http }) => http.paths.at(-1)?.backend.service.port.name);
    expect(services.sort()).toEqual(['agent', 'auth', 'console', 'content', 'edge', 'media', 'memory']);
    const hosts = new Map(rules.map(({ host, http }) => [http.paths.at(-1)?.backend.service.port.name, host]));
    expect(ingress?.spec?.tls?.[0]?.hosts).toEqual(rules.map(({ host }) => host));
    const env = deployments.flatMap(({ container }) => container.env ?? []);
    const urls: Readonly<Record<string, string>> = {
      ...settings,
      ...Object.fromEntries(env.map((entry) => [entry.name, entry.value])),
    };
    expect(urls.CONSOLE_URL).toBe(`https://${hosts.get('console')}`);
    const others = services.filter((service) => service !== 'console');
    const named = Object.fromEntries(others.map((service) => [service, `https://${hosts.get(service)}`]));
    expectConsoleUrls({ ...secrets, ...urls }, named);
  });

  it('serves files from a domain that shares no cookie', () => {
    const domain = (url: string) => new URL(url).hostname.split('.').slice(-2).join('.');
    expect(domain(settings.EDGE_URL)).not.toBe(domain(`https://${settings.COOKIE_DOMAIN}`));
  });

  it.each(rules)('$host: routes to Services and ports that exist, and not to the paths of operators', ({ http }) => {
    const closed = http.paths.filter(({ backend }) => backend.service.name === 'closed').map(({ path }) => path);
    expect(closed).toEqual(['/metrics', '/ready', '/docs', '/openapi.json']);
    for (const { backend } of http.paths) {
      const service = ofKind('Service').find(({ metadata }) => metadata.name === backend.service.name);
      expect(service?.spec?.ports?.map((port) => port.name)).toContain(backend.service.port.name);
    }
  });
});
