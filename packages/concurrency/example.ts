import { createSemaphore, createSingleFlight } from '@reelay/concurrency';

const singleFlight = createSingleFlight<string>();
const slots = createSemaphore({ permits: 2, maxPerClient: 1 });
const { signal } = new AbortController();

/** One run for all who ask for a name at the same time, two runs at once, one of each client. */
const load = (name: string, client: string) =>
  singleFlight(name, async () => {
    const { release } = await slots.acquire(client, signal);
    console.log('Loading', name);
    release();
    return name.toUpperCase();
  });

console.log(await Promise.all([load('a', 'anna'), load('a', 'anna'), load('b', 'ben')]));
