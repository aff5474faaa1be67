import { describe, expect, it } from 'vitest';
import { createFairSemaphore, type Permit } from '../../../core/concurrency/fair-semaphore.ts';

const PATIENCE = 20;
const never = new AbortController().signal;

function setUp(places: number) {
  const turns = createFairSemaphore({ permits: places, revokeAfterMs: PATIENCE });
  /** Who was seated, in order. */
  const seated: string[] = [];
  const take = async (name: string, signal = never): Promise<Permit> => {
    const turn = await turns.acquire(name.slice(0, 1), signal);
    seated.push(name);
    return turn;
  };
  return { seated, take };
}
const settled = () => new Promise(setImmediate);
const longEnough = () => new Promise((resolve) => setTimeout(resolve, 5 * PATIENCE));

describe('fair turns', () => {
  it('give one party all places while nobody else waits', async () => {
    const { seated, take } = setUp(4);
    const held = await Promise.all(['a1', 'a2', 'a3', 'a4'].map((name) => take(name)));
    void take('a5');
    await longEnough();
    expect(seated).toEqual(['a1', 'a2', 'a3', 'a4']);
    expect(held.some(({ revoked }) => revoked.aborted)).toBe(false);
    held[2]?.release();
    await settled();
    expect(seated.at(-1)).toBe('a5');
  });

  it('go round: who asks for many waits for who asks for one', async () => {
    const { seated, take } = setUp(1);
    const first = await take('a1');
    const rest = ['a2', 'a3', 'b1', 'c1', 'b2'].map((name) => take(name).then((turn) => turn.release()));
    first.release();
    await Promise.all(rest);
    expect(seated).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  });

  it('take back the youngest places beyond half when another party has waited', async () => {
    const { seated, take } = setUp(4);
    const greedy = await Promise.all(['a1', 'a2', 'a3', 'a4'].map((name) => take(name)));
    for (const turn of greedy) turn.revoked.addEventListener('abort', turn.release);
    const others = ['b1', 'b2', 'b3'].map((name) => take(name));
    await settled();
    expect(
      greedy.some(({ revoked }) => revoked.aborted),
      'not before they have waited',
    ).toBe(false);
    await longEnough();
    expect(greedy.map(({ revoked }) => revoked.aborted)).toEqual([false, false, true, true]);
    expect(seated.slice(4)).toEqual(['b1', 'b2']);
    (await others[0])?.release();
    await settled();
    expect(seated.at(-1)).toBe('b3');
  });

  it('keep a party that has half from more while another waits, and leave no place empty', async () => {
    const { seated, take } = setUp(3);
    const [one, two] = [await take('a1'), await take('b1')];
    await take('c1');
    void take('a2');
    void take('b2');
    two.release();
    await settled();
    expect(seated.at(-1)).toBe('b2');
    one.release();
    await settled();
    expect(seated.at(-1)).toBe('a2');
  });

  it('take nothing from who has one place alone', async () => {
    const { take } = setUp(1);
    const only = await take('a1');
    void take('b1');
    await longEnough();
    expect(only.revoked.aborted).toBe(false);
  });

  it('forget who no longer waits', async () => {
    const { seated, take } = setUp(1);
    const first = await take('a1');
    const leaving = new AbortController();
    const left = take('b1', leaving.signal);
    void take('c1');
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    await expect(take('d1', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    first.release();
    await settled();
    expect(seated).toEqual(['a1', 'c1']);
  });
});
