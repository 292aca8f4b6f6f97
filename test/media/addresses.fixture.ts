/** What the tests read from a signed address. */

/** Seconds until an address of the edge expires; of an S3 server's, the seconds that it was made for. */
export function validityS(url: string): number {
  const query = new URL(url).searchParams;
  return query.has('expires')
    ? Number(query.get('expires')) - Math.floor(Date.now() / 1000)
    : Number(query.get('X-Amz-Expires'));
}
