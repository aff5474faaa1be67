import type { OriginSecrets } from './state.ts';
import type { StateStorage, StoredItem } from './storage.ts';

const PK = 'origin-secret';

/** A secret and the rotation that created it. */
interface RotatedSecret {
  readonly rotation: string;
  readonly secret: string;
}

/** The origin secrets of a rotation, as `State.rotateOriginSecret` describes. @throws Error when the item is unreadable */
export async function rotateOriginSecret(
  storage: Pick<StateStorage, 'get' | 'putIf'>,
  rotation: string,
  candidate: string,
): Promise<OriginSecrets> {
  for (;;) {
    const item = { pk: PK, owner: rotation };
    if (await storage.putIf({ ...item, secret: candidate }, {})) return { current: candidate };
    const { current, previous } = parseItem(await storage.get(PK));
    if (current.rotation === rotation) return { current: current.secret, previous: previous?.secret };
    const secret = previous?.rotation === rotation ? previous.secret : candidate;
    // The owner is the condition: of concurrent rotations the later one starts from the result of the earlier one.
    const isStored = await storage.putIf({ ...item, secret, previous: current }, { owners: [current.rotation] });
    if (isStored) return { current: secret, previous: current.secret };
  }
}

function parseItem(item: StoredItem | undefined): { current: RotatedSecret; previous: RotatedSecret | undefined } {
  const current = { rotation: item?.owner, secret: item?.secret };
  if (!isRotatedSecret(current)) throw new Error('Origin secret is not a string');
  return { current, previous: isRotatedSecret(item?.previous) ? item.previous : undefined };
}

function isRotatedSecret(value: unknown): value is RotatedSecret {
  const { rotation, secret } = Object(value);
  return typeof rotation === 'string' && typeof secret === 'string';
}
