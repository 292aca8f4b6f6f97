import '../operator/operator.css';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useSearchParams } from 'wouter';
import type { Delivery, DeliveryList } from '../../api.ts';
import { send } from '../calls.ts';
import { AllDead } from '../operator/alldead.tsx';
import { useMayChange } from '../operator.tsx';
import { countUpTo, When } from '../parts/figures.tsx';
import { useRead } from '../parts/reading.ts';
import { Empty, Pending, Problem, Status } from '../parts/states.tsx';

export function Webhooks() {
  const [search, setSearch] = useSearchParams();
  const isDeadOnly = search.get('status') === 'dead';
  const { data, error, refetch } = useRead<DeliveryList>(
    ['webhooks', isDeadOnly],
    `/api/webhooks${isDeadOnly ? '?status=dead' : ''}`,
    { refetchInterval: 5000 },
  );
  return (
    <>
      <header className="page">
        <h1>Webhooks</h1>
        <p className="quiet">
          Events go to {data?.receiver ?? 'the receiver'}. A failed delivery is retried for 24 hours. After that, it is
          dead.
        </p>
      </header>
      <label className="field inline">
        <input
          type="checkbox"
          checked={isDeadOnly}
          onChange={({ target }) => setSearch(target.checked ? { status: 'dead' } : {}, { replace: true })}
        />
        Dead deliveries only{data !== undefined && ` (${countUpTo(data.largestCount, data.dead)})`}
      </label>
      {data !== undefined && data.dead > 0 && (
        <AllDead queue={data.queue} noun={nouns} count={countUpTo(data.largestCount, data.dead)} />
      )}
      {data === undefined ? (
        <Pending error={error} retry={refetch} what="Reading the deliveries" />
      ) : data.deliveries.length === 0 ? (
        <Empty title={isDeadOnly ? 'No delivery is dead.' : 'No event has been published yet.'} />
      ) : (
        <ul className="lines" aria-label="Deliveries">
          {data.deliveries.map((delivery) => (
            <Row key={delivery.id} delivery={delivery} />
          ))}
        </ul>
      )}
    </>
  );
}

const nouns = { one: 'delivery', many: 'deliveries' };
const states = {
  waiting: { tone: 'busy', word: 'waiting' },
  running: { tone: 'busy', word: 'being sent' },
  done: { tone: 'good', word: 'delivered' },
  dead: { tone: 'bad', word: 'dead' },
} as const;

function Row({ delivery }: { readonly delivery: Delivery }) {
  const { type, status, webhookId, attempts, createdAt, nextAttemptAt, reason, body } = delivery;
  const { tone, word } = states[status];
  const mayChange = useMayChange();
  return (
    <li>
      <div className="row">
        <span className="strong">{type}</span>
        <Status tone={tone}>{word}</Status>
      </div>
      <p className="quiet">
        <When at={createdAt} />, {attempts} {attempts === 1 ? 'attempt' : 'attempts'}
        {nextAttemptAt !== null && attempts > 0 && (
          <>
            , the next at <time dateTime={nextAttemptAt}>{new Date(nextAttemptAt).toLocaleTimeString()}</time>
          </>
        )}
      </p>
      {reason !== null && <p className="problem">{reason}</p>}
      <details>
        <summary>Body of {webhookId}</summary>
        <pre className="wrapped">{body}</pre>
      </details>
      {status === 'dead' && mayChange && <SendAgain delivery={delivery} />}
    </li>
  );
}

function SendAgain({ delivery: { id, type } }: { readonly delivery: Delivery }) {
  const queries = useQueryClient();
  const sending = useMutation({
    mutationFn: async () => {
      await send(`/api/webhooks/${encodeURIComponent(id)}/send`, { method: 'POST' });
      await queries.invalidateQueries({ queryKey: ['webhooks'] });
    },
  });
  return (
    <p className="row">
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
