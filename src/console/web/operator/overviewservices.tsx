import type { ServiceState } from '../../api.ts';
import type { History } from '../../history/api.ts';
import { Status } from '../parts/states.tsx';
import { Graph, type Line, Numbers } from './graph.tsx';
import { decimalOf, timeOf } from './units.ts';

export function Services({
  states,
  history,
}: {
  readonly states: readonly ServiceState[];
  readonly history: History | undefined;
}) {
  return (
    <ul className="cards">
      {states.map((state) => (
        <Service key={state.service} state={state} history={history} />
      ))}
    </ul>
  );
}

const words = {
  ready: { tone: 'good', word: 'ready' },
  unready: { tone: 'bad', word: 'not ready' },
  unreachable: { tone: 'bad', word: 'no answer' },
} as const;

function Service({ state, history }: { readonly state: ServiceState; readonly history: History | undefined }) {
  const { service, address, status, engines } = state;
  const { tone, word } = words[status];
  const past = history?.services.find((one) => one.service === service);
  const failing = Object.entries(engines).filter(([, engineState]) => engineState !== 'ok');
  return (
    <li className="card">
      <div className="row">
        <h3>{service}</h3>
        <Status tone={tone}>{word}</Status>
      </div>
      <p className="quiet address">{address.replace(/^https?:\/\//, '')}</p>
      {status === 'unreachable' && (
        <p className="problem">Check that its process is running. The last lines of its log show why it stopped.</p>
      )}
      {failing.map(([engine]) => (
        <p key={engine} className="problem">
          {engine} does not respond. Check its process and its settings.
        </p>
      ))}
      {past && history && <Past past={past} startsAt={history.startsAt} />}
      {history && status !== 'unreachable' && !wasMeasured(past) && (
        <p className="quiet">Not measured in this period.</p>
      )}
    </li>
  );
}

const wasMeasured = (past: History['services'][number] | undefined) =>
  past?.perMinute.some((value) => value !== null) ?? false;

function Past({
  past,
  startsAt,
}: {
  readonly past: History['services'][number];
  readonly startsAt: readonly string[];
}) {
  const requests: Line = { name: 'Requests', values: past.perMinute, tone: 'accent' };
  const errors: Line = { name: 'Errors', values: past.errorsPerMinute, tone: 'bad' };
  const median: Line = { name: 'p50', values: past.p50Ms, tone: 'accent' };
  const slow: Line = { name: 'p95', values: past.p95Ms, tone: 'quiet' };
  if (!wasMeasured(past)) return null;
  const hasErrors = past.errorsPerMinute.some((value) => value !== null && value > 0);
  return (
    <>
      <Graph
        title="Per minute"
        lines={hasErrors ? [requests, errors] : [requests]}
        startsAt={startsAt}
        show={decimalOf}
      />
      <Graph title="Response time" lines={[median, slow]} startsAt={startsAt} show={timeOf} />
      <Numbers
        label={`${past.service}: requests and errors per minute, response times`}
        lines={[requests, errors, median, slow]}
        startsAt={startsAt}
        show={(value, name) => (name.startsWith('p') ? timeOf(value) : decimalOf(value))}
      />
    </>
  );
}
