export { scanDashManifest } from './dash-manifest.ts';
export { type DashFragment, dashTimeline } from './dash-timeline.ts';
export { type FragmentList, firstFragmentUrl, packFragments, unpackFragments } from './fragment-list.ts';
