import '../operator/desk.css';
import '../operator/operator.css';
import '../operator/runs.css';
import { useState } from 'react';
import type { EndpointList } from '../../api.ts';
import { useConsole } from '../operator.tsx';
import { SearchFilter, useFilters } from '../parts/listing.tsx';
import { useRead } from '../parts/server.ts';
import { Empty, PageHead, Pending } from '../parts/states.tsx';
import { CopyButton } from '../studio/copybutton.tsx';
import purposeTexts from './purposes.json' with { type: 'json' };

const purposes: Readonly<Record<string, string>> = purposeTexts;

export function Reference() {
  const { data, error, refetch } = useConsole();
  const q = useFilters().of('q');
  if (data === undefined) return <Pending error={error} retry={refetch} />;
  return (
    <>
      <PageHead title="API reference">
        Endpoints, error codes and examples of each service, and its OpenAPI document to generate a client from.
      </PageHead>
      <search className="desk-fields desk-filters">
        <SearchFilter label="Find an endpoint" placeholder="Such as sign, POST /task or agent" />
      </search>
      {q !== '' && <Endpoints q={q} addresses={data.addresses} />}
      <h2 className={q === '' ? 'unseen' : undefined}>Services</h2>
      <ul className="tiles">
        {Object.entries(data.addresses).map(([service, address]) => (
          <li key={service} className="card">
            <h3>{service}</h3>
            <p>{purposes[service]}</p>
            <p className="quiet address">{address.replace(/^https?:\/\//, '')}</p>
            <p className="links reference-links">
              <a href={`${address}/docs`} aria-label={`Reference of ${service}`}>
                Reference
              </a>
              <a href={`${address}/openapi.json`} target="_blank" rel="noreferrer" aria-label={`OpenAPI of ${service}`}>
                OpenAPI
              </a>
            </p>
          </li>
        ))}
      </ul>
    </>
  );
}

const mostShown = 20;

function Endpoints({ q, addresses }: { readonly q: string; readonly addresses: Readonly<Record<string, string>> }) {
  const { data, error, refetch } = useRead<EndpointList>('/api/endpoints', {}, { staleTime: 300_000 });
  if (data === undefined) return <Pending error={error} retry={refetch} what="Reading the endpoints" />;
  const words = q.toLowerCase().split(/\s+/);
  const found = data.endpoints.filter(({ service, method, path, summary }) => {
    const text = `${service} ${method} ${path} ${summary}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const isExact = ({ path }: { readonly path: string }) =>
    words.some((word) => path.toLowerCase().split('/').includes(word.replaceAll('/', '')));
  found.sort((one, other) => Number(isExact(other)) - Number(isExact(one)));
  if (found.length === 0) return <Empty title="No endpoint matches." />;
  return (
    <>
      <ul className="lines" aria-label="Endpoints">
        {found.slice(0, mostShown).map((one) => (
          <Endpoint key={`${one.service} ${one.method} ${one.path}`} of={one} url={addresses[one.service]} />
        ))}
      </ul>
      {found.length > mostShown && (
        <p className="quiet">
          The first {mostShown} of {found.length}. Add a word.
        </p>
      )}
    </>
  );
}

const headers = {
  accessToken: 'Authorization: Bearer <access token>',
  internalKey: 'X-Internal-Key: <internal key>',
  adminToken: 'X-Admin-Token: <admin token>',
  none: undefined,
} as const;

interface EndpointProps {
  readonly of: EndpointList['endpoints'][number];
  /** `undefined`: browsers do not reach it. */
  readonly url: string | undefined;
}

function Endpoint({ of: { service, method, path, summary, credential, example }, url }: EndpointProps) {
  const [isOpen, setOpen] = useState(false);
  const header = headers[credential];
  const curl = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} '${url ?? `<URL of ${service}>`}${path}'`,
    ...(header === undefined ? [] : [`-H '${header}'`]),
    ...(example === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(example).replaceAll("'", "'\\''")}'`]),
  ].join(' \\\n  ');
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span className="tag">{method}</span> <code className="wrapped">{path}</code>{' '}
          <span className="quiet">
            {service}: {summary}
          </span>
        </summary>
        {isOpen && (
          <div className="reference-example">
            <pre className="wrapped">{curl}</pre>
            <CopyButton label="Copy the curl command" read={() => curl} />
          </div>
        )}
      </details>
      {url !== undefined && (
        <p className="quiet reference-links">
          <a href={`${url}/docs#${`${method}${path}`.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`}>
            Parameters and responses
          </a>
        </p>
      )}
    </li>
  );
}
