export type { LoadedDetails } from './media-details.ts';
export { sizeName, subtitleName, useDetails, useSponsors, versionName } from './use-details.ts';
