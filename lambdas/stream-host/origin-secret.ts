import { randomBytes } from 'node:crypto';
import type { Log } from '../../core/log/index.ts';
import type { State } from '../../core/state/index.ts';
import { customResource } from '../runtime/index.ts';

export interface OriginSecretOptions {
  readonly state: Pick<State, 'keepOriginSecret'>;
  readonly log: Log;
}

const BYTES = 32;

/**
 * A custom resource whose attribute `Secret` is the secret that CloudFront sends to the API's functions. It is the same in
 * every deployment, since the distribution and the functions are not updated at the same moment.
 */
export function createOriginSecret({ state, log }: OriginSecretOptions) {
  const provide = async () => ({
    physicalId: 'origin-secret',
    data: { Secret: await state.keepOriginSecret(randomBytes(BYTES).toString('base64url')) },
    noEcho: true,
  });
  // The table holds the secret and is deleted with the stack.
  return customResource({ log, create: provide, update: provide, delete: async () => undefined });
}
