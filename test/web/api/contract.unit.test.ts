import { expectTypeOf, it } from 'vitest';
import type * as service from '../../../core/api/schemas.ts';
import type * as page from '../../../web/src/api/contract.ts';

/** Decided by the type check: the page imports no code of the service, not even types. */
it("the page's API types match the service's schemas", () => {
  expectTypeOf<page.AppInfo>().toEqualTypeOf<service.AppInfo>();
  expectTypeOf<page.ResourceInformation>().toEqualTypeOf<service.ResourceInformation>();
  expectTypeOf<page.MediaInformation>().toEqualTypeOf<service.MediaInformation>();
  expectTypeOf<page.StreamReference>().toEqualTypeOf<service.StreamReference>();
  expectTypeOf<page.MediaRendition>().toEqualTypeOf<service.MediaRendition>();
});
