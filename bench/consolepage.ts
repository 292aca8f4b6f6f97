/** A user in Chromium before the whole suite, on a PostgreSQL of its own, and rows that are planted there. */
import pg from 'pg';
import { launchChromium } from '../test/chromium.fixture.ts';
import { type ConsoleRig, startConsole, type Visitor, visit } from '../test/console/rig.fixture.ts';
import { createPostgresDatabase } from '../test/database.fixture.ts';

export interface ConsolePage extends Visitor {
  readonly rig: ConsoleRig;
  plant(statement: string, values?: readonly unknown[]): Promise<void>;
}

export async function withConsolePage<Result>(measure: (page: ConsolePage) => Promise<Result>): Promise<Result> {
  const database = await createPostgresDatabase();
  const rig = await startConsole({ DATABASE_URL: database.url });
  const browser = await launchChromium();
  const client = new pg.Client({ connectionString: database.url });
  try {
    await client.connect();
    const plant = async (statement: string, values: readonly unknown[] = []) => {
      await client.query(statement, [...values]);
    };
    return await measure({ ...(await visit(browser)), rig, plant });
  } finally {
    await client.end();
    await browser.close();
    await rig.close();
    await database.drop();
  }
}
