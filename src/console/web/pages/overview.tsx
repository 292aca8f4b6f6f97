import { useQuery } from '@tanstack/react-query';
import type { Overview as OverviewData, ServiceState } from '../../api.ts';
import { callJson } from '../calls.ts';
import { countOf, sizeOf, When } from '../parts/figures.tsx';
import { Empty, Failure, Loading, Status } from '../parts/states.tsx';

export function Overview() {
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['overview'],
    queryFn: ({ signal }) => callJson<OverviewData>('/api/overview', { signal }),
    refetchInterval: 5000,
  });
  if (data === undefined)
    return error ? <Failure error={error} retry={refetch} /> : <Loading what="Asking every service" />;
  const unwell = data.services.filter(({ status }) => status !== 'ready');
  return (
    <>
      <header className="page">
        <h1>Overview</h1>
        <p className="quiet" aria-busy={isFetching}>
          Looked at <When at={data.checkedAt} />, again every 5 seconds.
        </p>
      </header>
      <p role="status" className="summary">
        {error ? (
          <Status tone="bad">{error.message} What stands below is older.</Status>
        ) : unwell.length === 0 ? (
          <Status tone="good">All {data.services.length} services are ready</Status>
        ) : (
          <Status tone="bad">
            {unwell.map(({ service }) => service).join(', ')} {unwell.length === 1 ? 'is' : 'are'} not ready
          </Status>
        )}
      </p>
      <section aria-labelledby="services">
        <h2 id="services">Services</h2>
        <ul className="tiles">
          {data.services.map((state) => (
            <Service key={state.service} state={state} />
          ))}
        </ul>
      </section>
      <div className="columns">
        <section aria-labelledby="engines">
          <h2 id="engines">Engines</h2>
          <dl className="pairs">
            {data.engines.map(({ concern, engine, isEmbedded }) => (
              <div key={concern}>
                <dt>{concern}</dt>
                <dd>
                  {engine} {isEmbedded && <span className="tag">embedded</span>}
                </dd>
              </div>
            ))}
          </dl>
        </section>
        <section aria-labelledby="queues">
          <h2 id="queues">Queues</h2>
          <Queues queues={data.queues} />
          <h2>Processes</h2>
          <dl className="pairs">
            {data.processes.map(({ services, startedAt, memoryBytes }) => (
              <div key={startedAt}>
                <dt>{services.length === 1 ? services[0] : `${services.length} services`}</dt>
                <dd>
                  started <When at={startedAt} />, {sizeOf(memoryBytes)}
                </dd>
              </div>
            ))}
          </dl>
        </section>
        <section aria-labelledby="errors">
          <h2 id="errors">Recent errors</h2>
          <Errors services={data.services} />
        </section>
      </div>
    </>
  );
}

function Service({ state }: { readonly state: ServiceState }) {
  const { service, address, status, engines, traffic } = state;
  return (
    <li className="card">
      <div className="row">
        <h3>{service}</h3>
        {status === 'ready' ? (
          <Status tone="good">ready</Status>
        ) : (
          <Status tone="bad">{status === 'unready' ? 'not ready' : 'no answer'}</Status>
        )}
      </div>
      <p className="quiet address">{address.replace(/^https?:\/\//, '')}</p>
      {traffic && (
        <p className="quiet">
          {countOf(traffic.requests)} answered, {countOf(traffic.inFlight)} in flight
          {traffic.serverErrors > 0 && (
            <span className="problem">
              , {countOf(traffic.serverErrors)} {traffic.serverErrors === 1 ? 'error' : 'errors'}
            </span>
          )}
        </p>
      )}
      {Object.keys(engines).length > 0 && (
        <p className="tags">
          {Object.entries(engines).map(([engine, engineState]) => (
            <span key={engine} className={engineState === 'ok' ? 'tag' : 'tag bad'}>
              {engine}
              {engineState !== 'ok' && ' does not answer'}
            </span>
          ))}
        </p>
      )}
    </li>
  );
}

const jobStates = ['waiting', 'running', 'dead'] as const;

function Queues({ queues }: { readonly queues: OverviewData['queues'] }) {
  if (queues.length === 0) return <Empty title="Queue depths are unavailable." />;
  const names = [...new Set(queues.map(({ queue }) => queue))];
  const depthOf = (name: string, wanted: string) =>
    queues.find(({ queue, state }) => queue === name && state === wanted)?.count;
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Queue</th>
          {jobStates.map((state) => (
            <th key={state} scope="col">
              {state}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {names.map((name) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {jobStates.map((state) => {
              const depth = depthOf(name, state);
              return (
                <td key={state} className={state === 'dead' && depth ? 'problem' : undefined}>
                  {depth === undefined ? '–' : countOf(depth)}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Errors({ services }: { readonly services: readonly ServiceState[] }) {
  const failing = services
    .flatMap((state) => state.failing.map((entry) => ({ service: state.service, ...entry })))
    .sort((one, other) => Date.parse(other.lastAt ?? '') - Date.parse(one.lastAt ?? ''));
  if (failing.length === 0) return <Empty title="None since the services were started." />;
  return (
    <ul className="lines">
      {failing.map(({ service, method, route, status, count, lastAt }) => (
        <li key={`${service} ${method} ${route} ${status}`}>
          <code>
            {service}: {method} {route}
          </code>
          <p className="quiet">
            <span className="problem">{status}</span>, {countOf(count)} {count === 1 ? 'time' : 'times'}
            {lastAt && (
              <>
                , last <When at={lastAt} />
              </>
            )}
          </p>
        </li>
      ))}
    </ul>
  );
}
