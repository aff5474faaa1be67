export { createResolver } from './create-resolver.ts';
export type { EntryRequest, ResolveEntry, Resolver } from './resolver.ts';
export {
  type MediaInformation,
  type MediaRendition,
  type ResourceInformation,
  toResourceInformation,
} from './response.ts';
