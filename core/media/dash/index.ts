export { scanDashManifest } from './dash-manifest.ts';
export { type DashFragment, dashTimeline } from './dash-timeline.ts';
