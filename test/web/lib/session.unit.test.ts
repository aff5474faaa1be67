import { describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../../web/src/api/api.ts';
import { createHistory } from '../../../web/src/history.ts';
import { createSession } from '../../../web/src/ui/session.ts';

const LINK = 'https://a.example/list';

/** A session with a fake API and a fake clock. */
function setUp() {
  const asked: string[] = [];
  let now = 0;
  const api: Api = {
    ...createApi('https://b.example'),
    async resolve(link) {
      asked.push(link);
      return { type: 'Media', title: link, author: null, coverUrl: null, mediaItems: [] };
    },
  };
  const session = createSession({ api, history: createHistory({ storage: undefined }), now: () => now });
  const resolved = async () => {
    await expect.poll(() => session.outcome.get().phase).toBe('resolved');
    const outcome = session.outcome.get();
    return outcome.phase === 'resolved' ? outcome.resource : undefined;
  };
  const pass = (seconds: number) => {
    now += seconds * 1000;
  };
  return { session, asked, resolved, pass };
}

describe('createSession', () => {
  it('reopens a recent result without a request', async () => {
    const { session, asked, resolved, pass } = setUp();
    session.open(LINK);
    const first = await resolved();
    // The time counts from when it was left.
    pass(3600);
    session.open('https://a.example/other');
    await resolved();
    pass(60);
    session.reopen(LINK);
    expect(session.outcome.get()).toEqual({ phase: 'resolved', link: LINK, resource: first });
    expect(asked).toHaveLength(2);
  });

  it('keeps the pages of a list apart', async () => {
    const { session, asked, resolved } = setUp();
    session.open(LINK);
    const first = await resolved();
    session.open(LINK, 200);
    const second = await resolved();
    session.open(LINK, 400);
    await resolved();
    session.reopen(LINK, 200);
    expect(session.outcome.get()).toEqual({ phase: 'resolved', link: LINK, offset: 200, resource: second });
    session.reopen(LINK);
    expect(session.outcome.get()).toEqual({ phase: 'resolved', link: LINK, resource: first });
    expect(asked).toHaveLength(3);
  });

  it.each([
    ['after some minutes', (pass: (seconds: number) => void) => pass(300), 0],
    ['after many others', () => undefined, 6],
  ])('is resolved again %s', async (_, wait, others) => {
    const { session, asked, resolved, pass } = setUp();
    session.open(LINK);
    await resolved();
    for (let count = 0; count < others; count++) {
      session.open(`https://a.example/${count}`);
      await resolved();
    }
    session.close();
    wait(pass);
    session.reopen(LINK);
    await resolved();
    expect(asked.filter((link) => link === LINK)).toHaveLength(2);
  });
});

it('resolves a re-entered link again', async () => {
  const { session, asked, resolved } = setUp();
  session.open(LINK);
  await resolved();
  session.open(LINK);
  await resolved();
  expect(asked).toHaveLength(2);
});

it('opens several links as a list without resolving them', () => {
  const { session, asked } = setUp();
  session.openAll([LINK, 'https://a.example/other']);
  expect(session.outcome.get()).toMatchObject({
    phase: 'batch',
    resource: { type: 'PlayList', mediaItems: [{ requestedUrl: LINK }, { requestedUrl: 'https://a.example/other' }] },
  });
  expect(asked).toEqual([]);
});
