import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import type { Construct } from 'constructs';
import type { Deployment } from '../../config/index.ts';

/** Notification thresholds in percent of the budget: two for actual cost, one for the forecast. */
const NOTIFICATIONS = [
  { notificationType: 'ACTUAL', threshold: 50 },
  { notificationType: 'ACTUAL', threshold: 80 },
  { notificationType: 'FORECASTED', threshold: 100 },
];

/**
 * A monthly cost budget of the account, which tells an address. It covers the whole account, because filtering by the stack's
 * tags requires activating them for billing by hand.
 */
export class AccountBudget extends CfnBudget {
  constructor(scope: Construct, id: string, address: string, { profile }: Pick<Deployment, 'profile'>) {
    super(scope, id, {
      budget: {
        budgetType: 'COST',
        timeUnit: 'MONTHLY',
        budgetLimit: { amount: profile.monthlyBudget, unit: 'USD' },
      },
      notificationsWithSubscribers: NOTIFICATIONS.map((warning) => ({
        notification: { ...warning, comparisonOperator: 'GREATER_THAN', thresholdType: 'PERCENTAGE' },
        subscribers: [{ subscriptionType: 'EMAIL', address }],
      })),
    });
  }
}
