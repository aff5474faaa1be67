import { onTestFinished } from 'vitest';
import { createEgress, type EgressOptions } from '../../../core/egress/create-egress.ts';
import { lookupIn, type Names } from '../../../packages/guarded-fetch/test/servers.ts';

/** An egress that is closed after the test. `names` is its DNS: other names do not exist. */
export function egressFor({ names = {}, ...options }: EgressOptions & { readonly names?: Names }) {
  const egress = createEgress({ lookup: lookupIn(names), ...options });
  onTestFinished(() => egress.close());
  return egress;
}
