"""From tokens to phrases: mining, quality, segmentation, salience, and the model that is kept."""
