import '../operator/operator.css';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useSearchParams } from 'wouter';
import type { Delivery, DeliveryList, EndpointState } from '../../api.ts';
import { send } from '../calls.ts';
import { AllDead, refreshJobs } from '../operator/alldead.tsx';
import { useMayChange } from '../operator.tsx';
import { Choices } from '../parts/choices.tsx';
import { countOf, countUpTo, momentOf, sinceThen, untilThen, When } from '../parts/figures.tsx';
import { useRead } from '../parts/reading.ts';
import { Empty, PageHead, Pending, Problem, Status } from '../parts/states.tsx';
import { notify } from '../shell/notices.ts';

const states = {
  failing: { tone: 'warn', word: 'failing' },
  dead: { tone: 'bad', word: 'dead' },
  waiting: { tone: 'busy', word: 'waiting' },
  done: { tone: 'good', word: 'delivered' },
} as const;
const filters = ['failing', 'dead', 'waiting', 'done'] as const;
const nouns = { one: 'delivery', many: 'deliveries' };

export function Webhooks() {
  const [search, setSearch] = useSearchParams();
  const filter = filters.find((one) => one === search.get('status')) ?? '';
  const { data, error, refetch } = useRead<DeliveryList>(
    ['webhooks', filter],
    `/api/webhooks${filter === '' ? '' : `?status=${filter}`}`,
    { refetchInterval: 5000, placeholderData: (before) => before },
  );
  const names = filters.map((one) => {
    const count = data === undefined ? '' : ` ${countUpTo(data.largestCount, data[one])}`;
    return [one, states[one].word.replace(/^./, (first) => first.toUpperCase()) + count] as const;
  });
  return (
    <div className="operator">
      <PageHead title="Webhooks">
        A failed delivery is retried for 24 hours, with increasing pauses. After that, it is dead.
      </PageHead>
      {data && <Endpoint of={data} />}
      <Choices
        label="Deliveries"
        of={[['', 'All'] as const, ...names]}
        chosen={filter}
        choose={(status) => setSearch(status === '' ? {} : { status }, { replace: true })}
      />
      {data === undefined ? (
        <Pending error={error} retry={refetch} what="Reading the deliveries" />
      ) : data.deliveries.length === 0 ? (
        <Empty title={filter === '' ? 'No event has been published yet.' : `No delivery is ${states[filter].word}.`} />
      ) : (
        <ul className="lines" aria-label="Deliveries">
          {data.deliveries.map((delivery) => (
            <Row key={delivery.id} delivery={delivery} host={hostOf(data)} />
          ))}
          {data.deliveries.length === 100 && <li className="quiet">Only the newest 100 deliveries are listed.</li>}
        </ul>
      )}
    </div>
  );
}

const hostOf = ({ receiver }: Pick<EndpointState, 'receiver'>) => new URL(receiver).host;

/** The counts are those of the filters below. */
function Endpoint({ of }: { readonly of: EndpointState }) {
  const { receiver, queue, failing, dead, largestCount, failingSince, reason, lastDoneAt } = of;
  const [tone, word] =
    failingSince !== null
      ? (['bad', `failing since ${momentOf(failingSince)}`] as const)
      : dead > 0
        ? (['bad', 'has dead deliveries'] as const)
        : lastDoneAt !== null
          ? (['good', 'delivers'] as const)
          : (['quiet', 'not used yet'] as const);
  return (
    <section className="card attention" aria-label="Endpoint">
      <div className="row">
        <h2 className="wrapped">{hostOf(of)}</h2>
        <Status tone={tone}>{word}</Status>
      </div>
      <p className="quiet">
        {receiver} · {lastDoneAt === null ? 'nothing delivered lately' : `last delivery ${sinceThen(lastDoneAt)}`}
      </p>
      {failing + dead > 0 && reason !== null && <p className="problem">{reason}</p>}
      {failing + dead > 0 && (
        <AllDead
          queue={queue}
          noun={nouns}
          count={countUpTo(largestCount, dead)}
          failing={failing}
          label="Send all again"
        />
      )}
    </section>
  );
}

function Row({ delivery, host }: { readonly delivery: Delivery; readonly host: string }) {
  const { type, state, webhookId, attempts, createdAt, endedAt, nextAttemptAt, reason, body } = delivery;
  const { tone, word } = states[state];
  const mayChange = useMayChange();
  return (
    <li className="job">
      <div className="row">
        <span>
          <span className="strong">{type}</span> <span className="quiet wrapped">to {host}</span>
        </span>
        <Status tone={tone}>{word}</Status>
      </div>
      <div className="row">
        <p className="quiet">
          Published <When at={createdAt} /> · {countOf(attempts)} {attempts === 1 ? 'attempt' : 'attempts'}
          {endedAt !== null && ` · ${word} ${sinceThen(endedAt)}`}
          {state === 'failing' && nextAttemptAt !== null && ` · next attempt ${untilThen(nextAttemptAt)}`}
        </p>
        {mayChange && state !== 'waiting' && <SendAgain delivery={delivery} />}
      </div>
      {reason !== null && <p className="problem">{reason}</p>}
      <details>
        <summary>Id and body</summary>
        <p>
          <code className="wrapped">{webhookId}</code>
        </p>
        <pre className="wrapped">{body}</pre>
      </details>
    </li>
  );
}

function SendAgain({ delivery: { id, fence, type } }: { readonly delivery: Delivery }) {
  const queries = useQueryClient();
  const sending = useMutation({
    mutationFn: async () => {
      await send(`/api/jobs/${encodeURIComponent(id)}/retry`, { method: 'POST', json: { fence } });
      notify(`${type} is being sent again.`);
    },
    // Another operator, or the queue, may have been faster.
    onSettled: () => refreshJobs(queries),
  });
  return (
    <p>
      <button
        type="button"
        aria-label={`Send again: ${type}`}
        disabled={sending.isPending}
        onClick={() => sending.mutate()}
      >
        Send again
      </button>
      <Problem of={sending.error} />
    </p>
  );
}
