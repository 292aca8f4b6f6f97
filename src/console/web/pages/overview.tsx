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
          <Status tone="bad">The console’s server does not answer</Status>
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
          <h2 id="errors">Errors since the start</h2>
          <Errors services={data.services} />
        </section>
      </div>
    </>
  );
}

function Service({ state }: { readonly state: ServiceState }) {
  const { service, address, status, engines, requests, serverErrors, inFlight } = state;
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
      <p className="quiet">
        {countOf(requests)} answered, {countOf(inFlight)} in flight
        {serverErrors > 0 && <span className="problem">, {countOf(serverErrors)} errors</span>}
      </p>
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

function Queues({ queues }: { readonly queues: OverviewData['queues'] }) {
  if (queues.length === 0) return <Empty title="No service works on a queue." />;
  const names = [...new Set(queues.map(({ queue }) => queue))];
  return (
    <dl className="pairs">
      {names.map((name) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {queues
              .filter(({ queue }) => queue === name)
              .map(({ state, count }) => `${countOf(count)} ${state}`)
              .join(', ')}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Errors({ services }: { readonly services: readonly ServiceState[] }) {
  const failing = services.flatMap(({ service, failing }) => failing.map((entry) => ({ service, ...entry })));
  if (failing.length === 0) return <Empty title="None." />;
  return (
    <ul className="lines">
      {failing.map(({ service, method, route, status, count }) => (
        <li key={`${service} ${method} ${route} ${status}`}>
          <code>
            {service}: {method} {route}
          </code>{' '}
          answered {status}, {countOf(count)} {count === 1 ? 'time' : 'times'}
        </li>
      ))}
    </ul>
  );
}
