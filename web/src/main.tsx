import './styles/index.css';
import { sweepStorage } from './lib/sinks.ts';
import { App } from './ui/app.tsx';
import { startPage } from './ui/start-page.tsx';

void startPage(<App />, location.search);
void sweepStorage();
if (import.meta.env.PROD) void navigator.serviceWorker?.register('/service-worker.js');
