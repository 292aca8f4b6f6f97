import type { ErrorList } from '../../history/api.ts';
import { When } from '../parts/figures.tsx';
import { useRead } from '../parts/reading.ts';
import { Empty, Pending } from '../parts/states.tsx';

/** By the code of the problem. */
const advice: Readonly<Record<string, string>> = {
  engine_unavailable:
    'An engine or a service did not respond. Check above which one is not ready, and search the log for the id.',
  overloaded: 'The process received too many requests. Start another process, or find the caller that sends so many.',
  internal_error: 'This is a bug. The log line with this id contains the cause.',
};
const fallback = 'Search the log for this id. The line contains the cause.';

export function Errors() {
  const { data, error, refetch } = useRead<ErrorList>(['errors'], '/api/errors', { refetchInterval: 10_000 });
  if (data === undefined) return <Pending error={error} retry={refetch} />;
  return (
    <>
      {data.unread.length > 0 && (
        <p className="problem">
          {data.unread.join(', ')} cannot be reached, so their errors are not listed. Check the last lines of their
          logs.
        </p>
      )}
      {data.errors.length === 0 && data.unread.length === 0 && (
        <Empty title="No server errors since the services started." />
      )}
      <ul className="lines">
        {data.errors.slice(0, 10).map(({ service, at, requestId, traceUrl, method, route, status, code }) => (
          <li key={`${service} ${requestId} ${at}`}>
            <div className="row">
              <code>
                {service}: {method} {route}
              </code>
              <span className="quiet">
                <When at={at} />
              </span>
            </div>
            <p>
              <span className="problem">
                {status} {code}
              </span>{' '}
              <span className="quiet">{advice[code] ?? fallback}</span>
            </p>
            <p className="quiet">
              Request id <code>{requestId}</code>
              {traceUrl !== null && (
                <>
                  {' · '}
                  <a href={traceUrl} target="_blank" rel="noreferrer">
                    Trace
                  </a>
                </>
              )}
            </p>
          </li>
        ))}
      </ul>
    </>
  );
}
