import { Link } from 'wouter';
import { webhookEventTypes } from '#webhooks/events.ts';
import type { Delivery, DeliveryList, EndpointState } from '../../api.ts';
import { send } from '../calls.ts';
import { Id, PersonLink, SettingLink } from '../operator/names.tsx';
import { Actions, AllDead } from '../operator/queuejobs.tsx';
import { useConsole, useMayChange } from '../operator.tsx';
import { countOf, countUpTo, momentOf, sinceThen, untilThen, When } from '../parts/figures.tsx';
import { ChoiceFilter, Choices, SearchFilter, useFilters } from '../parts/listing.tsx';
import { useRead } from '../parts/server.ts';
import { Empty, PageHead, Pending, Section, Status } from '../parts/states.tsx';
import { Pairs } from '../parts/tables.tsx';
import { CopyButton } from '../studio/copybutton.tsx';

const states = {
  failing: { tone: 'warn', word: 'failing' },
  dead: { tone: 'bad', word: 'dead' },
  waiting: { tone: 'busy', word: 'waiting' },
  done: { tone: 'good', word: 'delivered' },
} as const;
const filters = ['failing', 'dead', 'waiting', 'done'] as const;

export function Webhooks() {
  return (
    <div className="operator">
      <PageHead title="Webhooks">
        Your server receives events about runs, images, videos, files and accounts, and about emails and budgets that
        need attention. A failed delivery is retried for 24 hours, with increasing pauses. After that, it is dead.
      </PageHead>
      {useConsole().data?.hasWebhooks ? <Deliveries /> : <Unset />}
    </div>
  );
}

const Unset = () => (
  <Section title="No webhook URL is set" className="card stack">
    <ol className="steps">
      <li>
        Set <SettingLink name="WEBHOOK_URL" /> to a URL of your server that accepts <code>POST</code>.
      </li>
      <li>
        Set <SettingLink name="WEBHOOK_SECRET" /> to <code>whsec_</code> and the output of{' '}
        <code>openssl rand -base64 32</code>. It signs each request.
      </li>
      <li>
        Restart the services, then run <code>npm run webhook-test</code>, which sends an example.
      </li>
    </ol>
    <p className="quiet">
      <SettingLink name="WEBHOOK_EVENTS" /> chooses the events. By default, all are sent:{' '}
      <code>{webhookEventTypes.join(', ')}</code>
    </p>
  </Section>
);

function Deliveries() {
  const { of, change } = useFilters();
  const filter = filters.find((one) => one === of('status')) ?? '';
  const query = { status: filter, type: of('type'), q: of('q') };
  const often = { refetchInterval: 5000, placeholderData: (before?: DeliveryList) => before };
  const { data, error, refetch } = useRead<DeliveryList>('/api/webhooks', query, often);
  const names = filters.map((one) => {
    const count = data === undefined ? '' : ` ${countUpTo(data.largestCount, data[one])}`;
    return [one, states[one].word.replace(/^./, (first) => first.toUpperCase()) + count] as const;
  });
  const noneAtAll = filter === '' ? 'No event has been published yet.' : `No delivery is ${states[filter].word}.`;
  const none = of('type') + of('q') === '' ? noneAtAll : 'No delivery matches.';
  return (
    <>
      {data && <Endpoint of={data} />}
      <Choices
        label="Deliveries"
        of={[['', 'All'] as const, ...names]}
        chosen={filter}
        choose={(status) => change({ status })}
      />
      <search className="desk-fields desk-filters">
        <SearchFilter label="Search" placeholder="Id, reason or body" />
        <ChoiceFilter
          name="type"
          label="Type"
          choices={[['', 'All'], ...(data?.types ?? []).map((type) => [type, type] as const)]}
        />
      </search>
      {data === undefined ? (
        <Pending error={error} retry={refetch} what="Reading the deliveries" />
      ) : data.deliveries.length === 0 ? (
        <Empty title={none} />
      ) : (
        <ul className="lines" aria-label="Deliveries">
          {data.deliveries.map((delivery) => (
            <Row key={delivery.id} delivery={delivery} usual={data.reason} />
          ))}
          {data.deliveries.length === 100 && <li className="quiet">Only the newest 100 deliveries are listed.</li>}
        </ul>
      )}
    </>
  );
}

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
        <h2 className="wrapped">{new URL(receiver).host}</h2>
        <Status tone={tone}>{word}</Status>
      </div>
      <p className="quiet facts">
        <span>{receiver}</span>
        <span>{lastDoneAt === null ? 'nothing delivered lately' : `last delivery ${sinceThen(lastDoneAt)}`}</span>
      </p>
      {failing + dead > 0 && reason !== null && <p className="problem">{reason}</p>}
      {failing + dead > 0 && (
        <AllDead
          queue={queue}
          noun={{ one: 'delivery', many: 'deliveries' }}
          count={countUpTo(largestCount, dead)}
          failing={failing}
          label="Send all again"
          report={(what) => `Sending ${what} again`}
        />
      )}
    </section>
  );
}

interface RowProps {
  readonly delivery: Delivery;
  /** The reason that the endpoint has above. Rows do not repeat it. */
  readonly usual: string | null;
}

function Row({ delivery, usual }: RowProps) {
  const { type, state, webhookId, attempts, createdAt, endedAt, lastAttemptAt, nextAttemptAt, reason, body } = delivery;
  const { tone, word } = states[state];
  const mayChange = useMayChange();
  return (
    <li className="job">
      <div className="row">
        <span className="record-facts">
          <span className="strong">{type}</span> <About body={body} />
        </span>
        <span className="row">
          <Status tone={tone}>{word}</Status>
          {mayChange && state !== 'waiting' && <SendAgain delivery={delivery} />}
        </span>
      </div>
      {reason !== null && reason !== usual && <p className="problem">{reason}</p>}
      <details>
        <summary>
          Published <When at={createdAt} /> · {countOf(attempts)} {attempts === 1 ? 'attempt' : 'attempts'}
          {endedAt !== null && ` · ${word} ${sinceThen(endedAt)}`}
          {state === 'failing' && nextAttemptAt !== null && ` · next attempt ${untilThen(nextAttemptAt)}`}
        </summary>
        <Pairs
          of={{
            'Webhook id': <Id of={webhookId} name="webhook id" />,
            ...(lastAttemptAt !== null && { 'Last attempt': momentOf(lastAttemptAt) }),
            ...(reason !== null && { Reason: reason }),
            Body: <CopyButton label="Copy the body" read={() => body} />,
          }}
        />
        <pre className="wrapped">{JSON.stringify(JSON.parse(body), null, 2)}</pre>
      </details>
    </li>
  );
}

/** The person, the run and the order that the event is about. */
function About({ body }: { readonly body: string }) {
  const { type, data } = JSON.parse(body) as { readonly type: string; readonly data?: Record<string, unknown> };
  const { userId, ownerId, taskId, generationId, to, period, percent } = data ?? {};
  const person = userId ?? ownerId;
  return (
    <>
      {typeof person === 'string' && <PersonLink id={person} />}
      {typeof percent === 'number' && <span className="quiet">{`${percent}% of the budget: ${period}`}</span>}
      {Array.isArray(to) && <span className="quiet wrapped">{to.join(', ')}</span>}
      {typeof taskId === 'string' && !type.startsWith('video_task.') && (
        <Link href={`/operator/runs/${taskId}`}>The run</Link>
      )}
      {typeof generationId === 'string' && (
        <Link href={`/operator/runs?kind=generations&id=${generationId}`}>The order</Link>
      )}
    </>
  );
}

function SendAgain({ delivery: { id, fence, type } }: { readonly delivery: Delivery }) {
  const sendAgain = async () => {
    await send(`/api/jobs/${encodeURIComponent(id)}/retry`, { method: 'POST', json: { fence } });
    return `${type} is being sent again.`;
  };
  return <Actions retry={['Send again', `Send again: ${type}`]} act={sendAgain} />;
}
