import { useConsole } from '../operator.tsx';
import { Failure, Loading } from '../parts/states.tsx';

const purposes: Readonly<Record<string, string>> = {
  media: 'Uploads, signed URLs, copies, watermarks, deletion',
  image: 'Image variants on demand',
  auth: 'Sign-in, access tokens, sign-out',
  agent: 'Runs, their streams, conversations',
  memory: 'Facts about users and groups',
  content: 'Sitemap lists, announcement, cards, trending',
  notify: 'Notifications and emails',
  edge: 'Signed files, variants, resizing',
};

export function Reference() {
  const { data, error, refetch } = useConsole();
  if (data === undefined) return error ? <Failure error={error} retry={refetch} /> : <Loading />;
  return (
    <>
      <header className="page">
        <h1>API</h1>
        <p className="quiet">The reference of each service, generated from its routes.</p>
      </header>
      <h2 className="unseen">Services</h2>
      <ul className="tiles">
        {Object.entries(data.addresses).map(([service, address]) => (
          <li key={service} className="card">
            <h3>{service}</h3>
            <p>{purposes[service]}</p>
            <p className="quiet address">{address.replace(/^https?:\/\//, '')}</p>
            <p className="links">
              <a href={`${address}/docs`} target="_blank" rel="noreferrer" aria-label={`Reference of ${service}`}>
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
