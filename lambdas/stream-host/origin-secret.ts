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
 * A custom resource whose attribute `Secret` is what CloudFront tells the API's functions to be let in. It stays the same
 * over deployments: the distribution and the functions never change at the same moment.
 */
export function createOriginSecret({ state, log }: OriginSecretOptions) {
  const provide = async () => ({
    physicalId: 'origin-secret',
    data: { Secret: await state.keepOriginSecret(randomBytes(BYTES).toString('base64url')) },
    noEcho: true,
  });
  // It is deleted with its table.
  return customResource({ log, create: provide, update: provide, delete: async () => undefined });
}
