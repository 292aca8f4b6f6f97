import { useConsole } from '../operator.tsx';
import { Pending } from '../parts/states.tsx';

const purposes: Readonly<Record<string, string>> = {
  media: 'Upload, sign, copy, watermark and delete images, videos and other files.',
  image: 'Generate image variants on demand. Only servers call it.',
  auth: 'Sign users in and out, and issue access tokens.',
  agent: 'Run the assistant, stream its responses, and list conversations.',
  memory: 'Store and search facts about users and groups.',
  content: 'Read sitemaps, announcements, cards and trending items.',
  notify: 'Send notifications by email. Only servers call it.',
  edge: 'Deliver signed files and image variants, and accept uploads.',
};

export function Reference() {
  const { data, error, refetch } = useConsole();
  if (data === undefined) return <Pending error={error} retry={refetch} />;
  return (
    <>
      <header className="page">
        <h1>API reference</h1>
        <p className="quiet">
          Endpoints, error codes and examples of each service, and its OpenAPI document to generate a client from.
        </p>
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
