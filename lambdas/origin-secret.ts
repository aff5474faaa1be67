import { randomBytes } from 'node:crypto';
import type { Log } from '../core/log/index.ts';
import type { State } from '../core/state/index.ts';
import { customResource } from './custom-resource.ts';

interface OriginSecretOptions {
  readonly state: Pick<State, 'rotateOriginSecret'>;
  readonly log: Log;
}

const BYTES = 32;

/**
 * A custom resource with the secret that CloudFront sends to the API's functions, its attribute `Secret`. It changes only with the
 * property `rotation`. The functions read it from the table, with the previous one: edge locations take a new secret minutes apart.
 */
export const createOriginSecret = ({ state, log }: OriginSecretOptions) =>
  customResource({
    physicalId: 'origin-secret',
    async provide({ properties }) {
      const candidate = randomBytes(BYTES).toString('base64url');
      const { current } = await state.rotateOriginSecret(String(properties.rotation), candidate);
      return { Data: { Secret: current }, NoEcho: true };
    },
    // The table holds the secrets and is deleted with the stack.
    remove: async () => undefined,
    log,
  });
