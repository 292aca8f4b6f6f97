/** Downloads the model `owner/small` from the hub of the first argument into the data folder of the second. */
import { fetchModel } from '#memory/embedding/local/fetching.ts';

const [hub = '', dataDir = ''] = process.argv.slice(2);
await fetchModel({
  model: 'owner/small',
  hub,
  dataDir,
  onStart: () => () => undefined,
});
