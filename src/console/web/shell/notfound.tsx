import { Link } from 'wouter';

interface NotFoundProps {
  readonly path: string;
  /** The start page of the area. */
  readonly home: string;
}

export function NotFound({ path, home }: NotFoundProps) {
  return (
    <>
      <header className="page">
        <h1>Page not found</h1>
        <p className="quiet">
          The console has no page at <code>{path}</code>.
        </p>
      </header>
      <p>
        <Link href={home}>Go to the start page</Link>
      </p>
    </>
  );
}
