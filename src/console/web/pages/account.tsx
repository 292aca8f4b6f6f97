import { Decisions } from '../account/decisions.tsx';
import { Deletion, Restoration } from '../account/deletion.tsx';
import { Export } from '../account/export.tsx';
import { useAccount, useUsage } from '../account/queries.ts';
import '../account/account.css';
import { Pending } from '../parts/states.tsx';
import { useCredits } from '../studio/account.ts';
import { useSignOut, useUser } from '../user.tsx';

/** The account of the signed-in user. */
export function Account() {
  const { email } = useUser();
  const { data, error, refetch } = useAccount();
  return (
    <div className="ownaccount">
      <header className="page">
        <div>
          <h1>Your account</h1>
          <p className="quiet">{email}</p>
        </div>
      </header>
      {data?.deletesAt && <Restoration deletesAt={data.deletesAt} />}
      <Decisions />
      <Usage />
      <Sessions />
      {data === undefined ? (
        <Pending error={error} retry={refetch} what="Reading your account" />
      ) : (
        <>
          <Export state={data.export} />
          {data.deletesAt === null && <Deletion />}
        </>
      )}
    </div>
  );
}

const sizeOf = (bytes: number) =>
  new Intl.NumberFormat(undefined, { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 }).format(bytes / 1e6);

function Usage() {
  const credits = useCredits();
  const { data, error, refetch } = useUsage();
  const figures =
    data === undefined
      ? []
      : [
          ['Credits used', data.credits],
          ['Answers', data.runs],
          ['Images', data.images],
          ['Videos', data.videos],
          ['Storage', sizeOf(data.storage.bytes)],
        ];
  return (
    <section aria-labelledby="account-usage">
      <h2 id="account-usage">Usage of the last 30 days</h2>
      {credits && (
        <p className="quiet">
          Plan {credits.plan}. {credits.credits} credits are left.
        </p>
      )}
      {data === undefined ? (
        <Pending error={error} retry={refetch} what="Reading your usage" />
      ) : (
        <dl>
          {figures.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

function Sessions() {
  const signOut = useSignOut();
  return (
    <section aria-labelledby="account-sessions">
      <h2 id="account-sessions">Sessions</h2>
      <p className="quiet">End the sessions of all your browsers and devices, this one too.</p>
      <button type="button" disabled={signOut.isPending} onClick={() => signOut.mutate()}>
        End all sessions
      </button>
    </section>
  );
}
